import { afterAll, beforeAll, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { anInstallation, type Installation } from '../support/installation.js';

/** Two fifths of all modules of the service, which describe and check requests. */
const OF_REQUESTS = '/node_modules/(@nestjs/swagger|class-validator|fastify)/';

/** All but the parsers of the command line and of IP addresses. */
const OF_COMMANDS = '/node_modules/(?!commander/|ipaddr.js/)';

function refusing(libraries: string): Record<string, string> {
  const hooks = `import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (new RegExp(${JSON.stringify(libraries)}).test(url)) throw new Error('a command loads ' + url);
        return next(url, context);
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` };
}

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
  const { code, stderr } = await accounts(installation, parameters, { env: refusing(OF_REQUESTS) });
  expect(stderr).not.toContain('a command loads');
  expect(code, stderr).not.toBe(2);
});

it.each([[['--help']], [['users', '--help']], [['users', 'disable', '--help']]])(
  'accounts %j shows the help without the libraries of the commands',
  async (parameters) => {
    const { code, stderr } = await accounts(installation, parameters, { env: refusing(OF_COMMANDS) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  },
);
