#!/usr/bin/env node
// Built by `npm run build`. The path is computed, so that lint, which runs beside the build, does not follow it.
await import(new URL('../dist/cli/main.js', import.meta.url).href);
