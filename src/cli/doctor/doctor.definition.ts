import type { CommandDefinition } from '../command.js';

export const DOCTOR: CommandDefinition = {
  usage: 'doctor',
  summary: 'prove the invariants on the data: reads only, beside a running service',
  examples: ['doctor', 'doctor --json'],
  load: async () => (await import('./doctor.command.js')).doctor,
};
