import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { YOUNG_GENERATION as limit } from './start-options.js';

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(resolve(ROOT, path), 'utf8');

it('limits the young generation of V8 alike in the image, the unit and the npm scripts as in tests and benchmarks', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const limits = {
    image: /^ENV .*\bNODE_OPTIONS=(--\S+)/m.exec(read('Dockerfile'))?.[1],
    unit: /^Environment=NODE_OPTIONS=(--\S+)$/m.exec(read('deploy/accounts.service'))?.[1],
    start: /exec node (--\S+) dist\/main\.js/.exec(scripts['start']!)?.[1],
    'start:prod': /exec node (--\S+) dist\/main\.js/.exec(scripts['start:prod']!)?.[1],
  };

  expect(limits).toEqual({ image: limit, unit: limit, start: limit, 'start:prod': limit });
  const ours = {
    tests: /NODE_OF_SERVICE = \[process\.execPath, (\w+),/.exec(read('test/support/service-process.ts'))?.[1],
    benchmark: /nodeOptions: \[(\w+),/.exec(read('bench/modes/program.ts'))?.[1],
  };
  expect(ours).toEqual({ tests: 'YOUNG_GENERATION', benchmark: 'YOUNG_GENERATION' });
});

const settingsOf = (file: string): string[] =>
  read(file)
    .split('\n')
    .filter((line) => /^(?:\w+=|\[)/.test(line));

it('copies the audit log with the settings and the restrictions of the service', () => {
  const [service, copy] = [
    settingsOf('deploy/accounts.service'),
    settingsOf('deploy/accounts-events.service'),
  ];
  expect(copy.filter((line) => !service.includes(line))).toEqual([
    'Description=Copy of the audit log of Accounts',
    'After=network-online.target accounts.service',
    'StartLimitIntervalSec=0',
    'ExecStart=/opt/accounts/node_modules/.bin/node bin/accounts.js events copy /var/lib/accounts-events/events.jsonl',
    'RestartSec=10',
    'RestartPreventExitStatus=1 3',
    'StateDirectory=accounts accounts-events',
  ]);
  expect(service.filter((line) => !copy.includes(line))).toEqual([
    'Description=Accounts',
    'After=network-online.target',
    'StartLimitIntervalSec=60',
    'StartLimitBurst=5',
    'Environment=NODE_OPTIONS=--max-semi-space-size=16',
    'ExecStart=/opt/accounts/node_modules/.bin/node dist/main.js',
    'RestartSec=1',
    'KillMode=mixed',
    'StateDirectory=accounts',
  ]);
});

it('starts several instances of one machine as it starts one, but for the ports and the database', () => {
  const [one, several] = [settingsOf('deploy/accounts.service'), settingsOf('deploy/accounts@.service')];
  expect(several.filter((line) => !one.includes(line))).toEqual([
    'Description=Accounts, instance %i',
    'Environment=JWT_KEYS_FILE=/var/lib/accounts/jwks.json',
    'ExecStart=/usr/bin/env PORT=300%i METRICS_PORT=946%i /opt/accounts/node_modules/.bin/node dist/main.js',
  ]);
  expect(several).toHaveLength(one.length);
});
