#!/usr/bin/env node
// Any Node has to be able to read this file: dist/ tells an old one what it needs.
import { readFileSync } from 'fs';

if (['-V', '--version'].includes(process.argv[2])) {
  const file = new URL('../package.json', import.meta.url);
  console.log(JSON.parse(readFileSync(file, 'utf8')).version);
} else {
  // Built by `npm run build`. The path is computed, so that lint, which runs beside the build, does not follow it.
  void import(new URL('../dist/cli/main.js', import.meta.url).href);
}
