.read both/documents.sql
