"""From run directories to tables, figures and pages."""
