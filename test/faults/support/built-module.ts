const build = new URL('../../../build/', import.meta.url);

/**
 * The path is computed: lint follows static imports, and fails where the build that runs beside it replaces `build`.
 *
 * @param path in `build`
 */
export const builtModule = <Module>(path: string): Promise<Module> => import(new URL(path, build).href);
