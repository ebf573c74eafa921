import type { CommandDefinition } from '../command.js';

export const DOCTOR: CommandDefinition = {
  usage: 'doctor',
  summary: 'check the invariants on the data: read-only, beside a running service',
  examples: ['doctor', 'doctor --json'],
  load: async () => (await import('./doctor.command.js')).doctor,
};
