import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Installation } from './installation.js';
import { COMPILE_CACHE } from './compile-cache.js';
import { BUILT_SERVICE, type Environment, type ServiceProcess, spawnCommand } from './service-process.js';

/** The service as a process in which these packages cannot be loaded. */
export function spawnWithout(
  packages: readonly string[],
  { directory, env: location }: Installation,
  env: Environment,
): ServiceProcess {
  const hook = pathToFileURL(resolve(import.meta.dirname, 'refuse-packages.mjs'));
  for (const name of packages) hook.searchParams.append('package', name);
  const [node, ...parameters] = BUILT_SERVICE;
  return spawnCommand([node, '--import', hook.href, ...parameters], directory, {
    ...COMPILE_CACHE,
    ...location,
    ...env,
  });
}
