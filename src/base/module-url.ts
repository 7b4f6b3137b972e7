/**
 * Address of a module beside the asking one, for a `Worker`: the compiler turns `./x.ts` into `./x.js` in imports but
 * not in `new URL(...)`, so the ending is taken from the asker: `.ts` run from source, `.js` in the package.
 */
export function siblingModule(askerUrl: string, name: string): URL {
  return new URL(`./${name}${askerUrl.endsWith('.ts') ? '.ts' : '.js'}`, askerUrl)
}
