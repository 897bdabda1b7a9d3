"""One module for each page: from the record to markup."""
