import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, loadTextlintrc } from 'textlint';
import { proseOf, proseOfDocument, proseOfPage } from './prose-of.ts';

const PROJECT = join(import.meta.dirname, '../..');
const SOURCES = ['src/**/*.ts', 'client/src/**/*.ts', 'tooling/**/*.ts', 'test/**/*.ts', 'ormconfig.ts'];
const GENERATED = /\.gen\.ts$|\.d\.ts$/;
const PAGES = ['*.md', 'docs/**/*.md', 'client/*.md', 'examples/**/*.md', 'bench/*.md'];
const RESULTS = /RESULTS\.md$/;
const ENGLISH_EMAILS = ['src/mail/templates/*.txt'];
const DOCUMENT = 'docs/openapi.json';

interface Prose {
  file: string;
  text: string;
}

const filesOf = (globs: string[], except = /^$/): string[] =>
  globSync(globs, { cwd: PROJECT })
    .filter((file) => !except.test(file))
    .toSorted();

function read(files: string[], extract: (file: string, source: string) => string): Prose[] {
  return files.map((file) => ({ file, text: extract(file, readFileSync(join(PROJECT, file), 'utf8')) }));
}

/**
 * Searches comments, error texts, pages, emails and the OpenAPI document for the phrases of phrases.yml. Ends with 1 if it
 * finds one. The help of the CLI is part of the generated page docs/reference/cli.md.
 */
async function check(): Promise<void> {
  const descriptor = await loadTextlintrc({ configFilePath: join(PROJECT, '.textlintrc.json') });
  const linter = createLinter({ descriptor });
  const prose = [
    ...read(filesOf(SOURCES, GENERATED), proseOf),
    ...read(filesOf(PAGES, RESULTS), (_, source) => proseOfPage(source)),
    ...read(filesOf(ENGLISH_EMAILS), (_, source) => source),
    ...read([DOCUMENT], (_, source) => proseOfDocument(source)),
  ];
  for (const { file, text } of prose) {
    const { messages } = await linter.lintText(text, `${file}.txt`);
    for (const { line, column, message } of messages) {
      console.error(`${file}:${line}:${column} ${message}`);
      process.exitCode = 1;
    }
  }
}

await check();
