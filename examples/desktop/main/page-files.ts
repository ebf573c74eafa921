import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';

export const ORIGIN = 'app://desktop';

const { resolve } = createRequire(import.meta.url);
const FOLDERS: readonly [path: string, folder: string][] = [
  ['/accounts-client/', join(dirname(resolve('accounts-client/package.json')), 'dist')],
  ['/uqr/', dirname(resolve('uqr'))],
  ['/scripts/', join(import.meta.dirname, '../page')],
  ['/', join(import.meta.dirname, '../../page')],
];
const TYPES: Record<string, string> = { '.html': 'text/html', '.css': 'text/css' };
/** No name has `..`, or anything that is encoded. */
const PATH = /^(?:\/[\w-]+)+(?:\.[a-z]+)?\.(?:html|css|js|mjs)$/;
const IMPORT_MAP = /<script type="importmap">(.*?)<\/script>/s;

/** Answers with a file of the page, of `accounts-client`, or of the library for QR codes. */
export async function answerPageFile({ url }: { url: string }): Promise<Response> {
  const { host, pathname } = new URL(url);
  const [path, folder] = FOLDERS.find(([start]) => pathname.startsWith(start))!;
  const isNamed = `app://${host}` === ORIGIN && PATH.test(pathname);
  const file =
    isNamed && (await readFile(join(folder, pathname.slice(path.length)), 'utf8').catch(() => false));
  if (typeof file !== 'string') return new Response(null, { status: 404 });
  const headers = {
    'Content-Type': `${TYPES[extname(pathname)] ?? 'text/javascript'}; charset=utf-8`,
    'Content-Security-Policy': policyOf(file),
  };
  return new Response(file, { headers });
}

/** Scripts and styles come from this program, images from the page itself. The page connects to nothing. */
function policyOf(page: string): string {
  const hash = createHash('sha256')
    .update(IMPORT_MAP.exec(page)?.[1] ?? '')
    .digest('base64');
  return (
    `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; img-src data:; base-uri 'none'; ` +
    `form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`
  );
}
