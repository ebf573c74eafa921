/** Calls a function of the program. The guard does not wait for it, and continues whatever it throws or rejects with. */
export async function callHook(hook: () => unknown, onFailure: (error: unknown) => void): Promise<void> {
  try {
    await hook();
  } catch (error) {
    onFailure(error);
  }
}
