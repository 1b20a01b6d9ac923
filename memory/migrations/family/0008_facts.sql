.read both/facts.sql
