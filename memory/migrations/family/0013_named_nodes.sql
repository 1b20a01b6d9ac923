.read both/named_nodes.sql
