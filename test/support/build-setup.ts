import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';
const BUILT = 'dist/main.js';
const SETTINGS = ['nest-cli.json', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];

/** The tests run what is built: it is built again where anything that it is made of is newer. */
export default function setup(): void {
  if (existsSync(BUILT) && newestInputMs() < statSync(BUILT).mtimeMs) return;
  execFileSync(process.execPath, [NEST, 'build'], { stdio: 'inherit' });
}

/** Folders count, too: theirs is the only trace of a file that is gone. */
function newestInputMs(): number {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((path) => join('src', path));
  return Math.max(...[...SETTINGS, 'src', ...sources].map((path) => statSync(path).mtimeMs));
}
