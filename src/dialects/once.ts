/** Makes something when it is first asked for, and lets go of what it was made of. */
export function once<T>(make: () => T): () => T {
  let maker: (() => T) | undefined = make;
  let made: T;
  return () => {
    if (maker !== undefined) {
      made = maker();
      maker = undefined;
    }
    return made;
  };
}
