import type { CommandDefinition } from '../command.js';

export const EXPORT: CommandDefinition = {
  usage: 'export <USER>',
  summary: 'print all data about one user as a JSON document, to answer an access request',
  details: [
    'A user is named by e-mail or id. The document holds the account, the organizations, the sessions, the record of',
    'changes about the user, and the invitations to the e-mail if it is verified. It contains no hash, no code, no',
    'client address of anybody else, and none of the reasons that operators gave.',
  ].join('\n'),
  examples: ['export ada@example.com > ada.json'],
  load: async () => (await import('./export.command.js')).exportUser,
};
