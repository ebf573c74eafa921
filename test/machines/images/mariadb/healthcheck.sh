#!/bin/sh
exec mariadb --execute 'SELECT 1' >/dev/null
