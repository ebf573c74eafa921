import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';
const BUILT = 'dist/main.js';
const SETTINGS = ['nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];

/** Tests run the built service: rebuilds it when any of its inputs is newer. */
export default function setup(): void {
  if (existsSync(BUILT) && newestInputMs() < statSync(BUILT).mtimeMs) return;
  execFileSync(process.execPath, [NEST, 'build'], { stdio: 'inherit' });
}

/** Folders too: only they show that a file was deleted. */
function newestInputMs(): number {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((path) => join('src', path));
  return Math.max(...[...SETTINGS, 'src', ...sources].map((path) => statSync(path).mtimeMs));
}
