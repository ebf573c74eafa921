const dist = new URL('../../../dist/', import.meta.url);

/**
 * The path is computed: lint follows static imports, and fails where the build that runs beside it replaces `dist`.
 *
 * @param path in `dist`
 */
export const builtModule = <Module>(path: string): Promise<Module> => import(new URL(path, dist).href);
