import { afterAll, beforeAll, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';

/** Two fifths of all modules of the service, which describe and check requests. */
const OF_REQUESTS = '/node_modules/(@nestjs/swagger|class-validator|fastify)/';

const REFUSE = `import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (new RegExp(${JSON.stringify(OF_REQUESTS)}).test(url)) throw new Error('a command loads ' + url);
      return next(url, context);
    },
  });`;

let installation: Installation;

beforeAll(async () => {
  installation = await anInstallation();
  await accounts(installation, ['migrate']);
});
afterAll(() => installation.remove());

it.each([
  ['users', 'list'],
  ['orgs', 'list'],
  ['operators', 'list'],
  ['services', 'list'],
  ['keys', 'list'],
  ['mail', 'list'],
  ['events'],
  ['doctor'],
])('accounts %s %s starts without what only requests need', async (...parameters) => {
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REFUSE)}` };
  const { code, stderr } = await accounts(installation, parameters, { env });
  expect(stderr).not.toContain('a command loads');
  expect(code, stderr).not.toBe(2);
});
