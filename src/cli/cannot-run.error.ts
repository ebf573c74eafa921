/** The command cannot run as it was given, or not with this database; nothing was done. */
export class CannotRunError extends Error {}
