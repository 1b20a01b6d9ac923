.read both/forgotten_documents.sql
