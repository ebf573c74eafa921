import { copyFile } from 'node:fs/promises';
import { run } from './command.js';

const NAMES = ['registry', 'cafile', 'proxy', 'https-proxy', 'noproxy'];

/**
 * How this machine's npm reaches its registry, for an npm on another machine.
 *
 * @param ca where to put the certificates, if there are any, and where that npm finds them
 */
export async function npmSettings(ca: { putAt: string; foundAt: string }): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const name of NAMES) {
    const value = await run('npm', ['config', 'get', name, '--loglevel=error']);
    if (value !== '' && value !== 'null') settings[name] = value;
  }
  if (settings['cafile'] !== undefined) {
    await copyFile(settings['cafile'], ca.putAt);
    settings['cafile'] = ca.foundAt;
  }
  return settings;
}
