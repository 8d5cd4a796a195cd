"""Jobs: many documents through the one extraction path, kept so that no crash loses or doubles one."""
