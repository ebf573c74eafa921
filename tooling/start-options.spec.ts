import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(resolve(ROOT, path), 'utf8');

it('limits the young generation of V8 alike in the image, the unit and the npm scripts', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const limits = {
    image: /^ENV .*\bNODE_OPTIONS=(--\S+)/m.exec(read('Dockerfile'))?.[1],
    unit: /^Environment=NODE_OPTIONS=(--\S+)$/m.exec(read('deploy/accounts.service'))?.[1],
    start: /exec node (--\S+) dist\/main\.js/.exec(scripts['start']!)?.[1],
    'start:prod': /exec node (--\S+) dist\/main\.js/.exec(scripts['start:prod']!)?.[1],
  };

  const limit = '--max-semi-space-size=16';
  expect(limits).toEqual({ image: limit, unit: limit, start: limit, 'start:prod': limit });
});

it('starts several instances of one machine as it starts one, but for the ports and the database', () => {
  const settingsOf = (file: string): string[] =>
    read(file)
      .split('\n')
      .filter((line) => /^(?:\w+=|\[)/.test(line));
  const [one, several] = [settingsOf('deploy/accounts.service'), settingsOf('deploy/accounts@.service')];
  expect(several.filter((line) => !one.includes(line))).toEqual([
    'Description=Accounts, instance %i',
    'Environment=JWT_KEYS_FILE=/var/lib/accounts/jwks.json',
    'ExecStart=/usr/bin/env PORT=300%i METRICS_PORT=946%i /opt/accounts/node_modules/.bin/node dist/main.js',
  ]);
  expect(several).toHaveLength(one.length);
});
