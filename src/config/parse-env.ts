import { type Env, readEnv } from './env.js';
import { Variables } from './variables.js';

/** Holds a line for each wrong variable, without its value, which may be a secret. */
export class ConfigurationError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
  }
}

export function parseEnv(environment: NodeJS.ProcessEnv): Env {
  const variables = new Variables(environment);
  const env = readEnv(variables);
  variables.refuseMisspelled();
  if (variables.problems.length > 0) throw new ConfigurationError(variables.problems);
  return env;
}
