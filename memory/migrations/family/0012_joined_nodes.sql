.read both/joined_nodes.sql
