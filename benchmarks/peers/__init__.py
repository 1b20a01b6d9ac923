"""The programs that Enlace is measured against: their pinned requirements and what runs inside them."""
