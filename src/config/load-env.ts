import { existsSync } from 'node:fs';
import type { Env } from './env.js';
import { parseEnv } from './parse-env.js';

/** The only reader of the process environment. A `.env` file adds what the environment does not set. */
export function loadEnv(): Env {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return parseEnv(process.env);
}
