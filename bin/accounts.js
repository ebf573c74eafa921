#!/usr/bin/env node
// Built by `npm run build`.
import '../dist/cli/main.js';
