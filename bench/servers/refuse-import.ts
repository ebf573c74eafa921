import { registerHooks } from 'node:module';

// For `node --import`: the package that the query names is as good as not installed.
const refused = new URL(import.meta.url).searchParams.get('package');

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier === refused) throw new Error(`The benchmark was told to do without ${specifier}`);
    return nextResolve(specifier, context);
  },
});
