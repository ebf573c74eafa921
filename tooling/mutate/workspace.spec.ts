import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { Workspace } from './workspace.js';

it('copies every source, but nothing that is built, installed or stored beside them', () => {
  const project = mkdtempSync(join(tmpdir(), 'accounts-workspace-'));
  const sources = ['src/app.ts', 'src/cli/data/keys.ts', 'src/tmp/file.ts'];
  const others = ['data/accounts.sqlite', 'secrets/tls.pem', 'dist/main.js', 'test/node_modules/a/index.js'];
  for (const file of [...sources, ...others, 'node_modules/b/index.js']) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), '');
  }
  const workspace = Workspace.of(project, 'src/app.ts');
  try {
    const isCopied = (file: string): boolean => existsSync(join(workspace.root, file));
    expect([sources.filter(isCopied), others.filter(isCopied)]).toEqual([sources, []]);
  } finally {
    workspace.remove();
    rmSync(project, { recursive: true });
  }
});
