"""What the report's page is made of: templates, styles and scripts."""
