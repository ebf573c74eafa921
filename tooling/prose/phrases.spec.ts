import { join } from 'node:path';
import { createLinter, loadTextlintrc } from 'textlint';
import { expect, it } from 'vitest';

const RULES = join(import.meta.dirname, '../../.textlintrc.json');

async function faultsOf(text: string): Promise<string[]> {
  const linter = createLinter({ descriptor: await loadTextlintrc({ configFilePath: RULES }) });
  const { messages } = await linter.lintText(text, 'page.txt');
  return messages.map(({ message }) => message);
}

// The code of a page is blanked out before its phrases are searched.
const CODE = '          ';

it.each([
  'A user who is no member',
  `${CODE} takes ${CODE}, too`,
  'that the operation does not take',
  'the response then has the code',
  'a code beside the password',
  'Accounts refuses the request.',
  'The row is refused.',
  'No licence has been chosen.',
  'Check your set-up',
  'It recognises cancelled calls.',
  'needs a password session',
])('%s: is found', async (text) => {
  expect(await faultsOf(text)).not.toEqual([]);
});

it.each([
  'There is no member of that name, and the email is no longer used.',
  'The operation takes 10 seconds, and a route takes place in the list.',
  'The response has arrived.',
  'a program beside your service',
  'The command refuses to delete an operator, and a connection is refused.',
  'It canceled the call, and the promise advised otherwise.',
])('%s: is right', async (text) => {
  expect(await faultsOf(text)).toEqual([]);
});
