import { resolve } from 'node:path';

/**
 * For the environment of the built service and its command line, which the tests start hundreds of times: Node keeps
 * their compiled code there, and compiles again what has changed.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../../node_modules/.cache/compiled'),
};
