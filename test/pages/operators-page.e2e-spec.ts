import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join as pathOf, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../support/compile-cache.js';
import { anInvitation } from '../support/inviting.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anAccountOf, anOrgOf, join, type Org } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { type Instance, startOwnService } from '../support/service.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(pathOf(ROOT, 'docs/operators.md'), 'utf8');
const ORG = /[0-9a-f]{8}-[0-9a-f-]{27}/g;

/** Every command of the page, in its order. */
const COMMANDS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) =>
  block!.trimEnd().split('\n'),
);

describe('docs/operators.md', () => {
  let installation: Installation;
  let service: Instance;
  let org: Org;
  let bin: string;

  beforeAll(async () => {
    installation = await anInstallation();
    service = await startOwnService({ installation });
    bin = pathOf(installation.directory, 'bin');
    await mkdir(bin);
    await writeFile(
      pathOf(bin, 'accounts'),
      `#!/bin/sh\nexec '${process.execPath}' '${pathOf(ROOT, 'dist/cli/main.js')}' "$@"\n`,
    );
    await chmod(pathOf(bin, 'accounts'), 0o755);
    await writeFile(pathOf(installation.directory, 'password.txt'), 'a compiler in the attic\n');
    await writeFile(
      pathOf(installation.directory, 'users.jsonl'),
      JSON.stringify({
        email: 'joan@example.com',
        passwordHash: '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG',
      }),
    );
    const [ada, grace] = await Promise.all(['ada', 'grace'].map((name) => register(name)));
    org = await anOrgOf(ada!);
    await join(org, ada!, grace!, 'member');
    await register('hedy', 'old.example');
    await protect(service, await register('support'));
    await anInvitation(ada!, org, { email: 'hedy@example.com' });
  });
  afterAll(async () => {
    await service.stop();
    await installation.remove();
  });

  const register = (name: string, domain = 'example.com') => anAccountOf(service, `${name}@${domain}`);

  it('has a command for each task', () => {
    expect(COMMANDS.length).toBeGreaterThan(15);
    expect(COMMANDS.filter((command) => !command.startsWith('accounts '))).toEqual([]);
  });

  it('names every route of operators beside its command', () => {
    const named = [...PAGE.matchAll(/`(GET|POST) (\/api\/operators\/[^`]+)` +\|$/gm)];
    const document = JSON.parse(readFileSync(pathOf(ROOT, 'docs/openapi.json'), 'utf8')) as {
      paths: Record<string, object>;
    };
    const routes = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/api/operators/'))
      .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));

    expect(named.map(([, method, path]) => `${method} ${path}`).toSorted()).toEqual(routes.toSorted());
  });

  it.each(COMMANDS)('%s', (command) => {
    const here = command.replaceAll(ORG, org.id).replace('/var/lib/accounts/', `${installation.directory}/`);
    const { status, stdout, stderr } = spawnSync('sh', ['-c', here], {
      cwd: installation.directory,
      env: { PATH: `${bin}:${process.env['PATH']}`, ...COMPILE_CACHE, ...installation.env },
      encoding: 'utf8',
    });

    expect(status, stdout + stderr).toBe(0);
    expect(stderr).toBe('');
  });
});
