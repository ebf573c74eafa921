import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

const FRAME = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;

const maps = new Map<string, SourceMap | undefined>();

/**
 * Replaces the positions in the built files by positions in `src`. Node's own support for source maps reads every map at the
 * start, which costs a fifth of its time.
 */
export function sourceFrames(stack: string): string {
  return stack.replaceAll(FRAME, (built: string, file: string, line: string, column: string) => {
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return built;
    return `${origin.fileName.replace(/^(?:\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(new URL(`${file}.map`)));
  return maps.get(file);
}

/** Libraries have no maps. */
function readMap(url: URL): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(url, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
