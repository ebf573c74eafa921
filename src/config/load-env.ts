import { existsSync } from 'node:fs';
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

/** The only reader of the process environment. A `.env` file adds what the environment does not set. */
export function loadEnv(): Env {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return parseEnv(process.env);
}
