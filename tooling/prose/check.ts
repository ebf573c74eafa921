import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, loadTextlintrc } from 'textlint';
import { proseOf } from './prose-of.ts';

const PROJECT = join(import.meta.dirname, '../..');
const FILES = ['src/**/*.ts', 'client/src/**/*.ts', 'tooling/**/*.ts', 'test/**/*.ts', 'ormconfig.ts'];
const GENERATED = /\.gen\.ts$|\.d\.ts$/;

/** Searches comments and error texts for the phrases of phrases.yml, and ends with 1 if it finds one. */
async function check(): Promise<void> {
  const descriptor = await loadTextlintrc({ configFilePath: join(PROJECT, '.textlintrc.json') });
  const linter = createLinter({ descriptor });
  for (const file of globSync(FILES, { cwd: PROJECT }).toSorted()) {
    if (GENERATED.test(file)) continue;
    const text = proseOf(file, readFileSync(join(PROJECT, file), 'utf8'));
    const { messages } = await linter.lintText(text, `${file}.txt`);
    for (const { line, column, message } of messages) {
      console.error(`${file}:${line}:${column} ${message}`);
      process.exitCode = 1;
    }
  }
}

await check();
