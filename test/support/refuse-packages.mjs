import { registerHooks } from 'node:module';

// For `node --import`: a process that asks for one of the packages named in the query does not start.
const refused = new URL(import.meta.url).searchParams.getAll('package');

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (refused.some((name) => specifier === name || specifier.startsWith(`${name}/`))) {
      throw new Error(`The test does without ${specifier}`);
    }
    return nextResolve(specifier, context);
  },
});
