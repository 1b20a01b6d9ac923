.read both/vectors.sql
