import { existsSync } from 'node:fs';
import { explainFailure } from '../../app/start-failure.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { type Env, readConfiguration, readEnvironment } from '../../config/env.js';
import { ConfigurationError } from '../../config/variables.js';
import { adviceOn, startWarnings } from '../../config/warnings.js';
import { loadTemplates } from '../../mail/template.js';
import { tryConnections } from '../doctor/connections.js';
import type { Invocation, Report } from '../command/definition.js';

/** Without `--connect`, it reads files, but opens no database and no connection. @throws ConfigurationError */
export async function checkConfiguration(invocation: Invocation): Promise<Report> {
  const { env, variables } = readConfiguration(readEnvironment());
  const problems = problemsInFiles(env);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const effective = variables.effective();
  const warnings = [...startWarnings(env), ...adviceOn(env)];
  const trials = invocation.flag('connect') ? await tryConnections(env) : [];
  return {
    lines: [
      ...effective.map(({ name, value, isDefault }) =>
        [name.padEnd(27), value || '-', isDefault && value !== '' ? ' (default)' : ''].join(' ').trimEnd(),
      ),
      ...warnings.map((warning) => `warning: ${warning}`),
      ...trials.map(({ what, works, detail }) => `${works ? 'ok    ' : 'FAILED'} ${what}: ${detail}`),
    ],
    json: [...effective, ...warnings.map((warning) => ({ warning })), ...trials],
    isRed: trials.some(({ works }) => works === false),
  };
}

/** In development, Accounts creates a missing key file when it starts. */
function problemsInFiles({ production, jwtKeysFile, smtp, mailTemplates }: Env): string[] {
  const checks = [
    () => (production || existsSync(jwtKeysFile)) && loadKeyFile(jwtKeysFile, true),
    () => smtp && loadTemplates(mailTemplates),
  ];
  return checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      return explainFailure(error);
    }
  });
}
