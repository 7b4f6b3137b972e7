/** `rest`: what follows the view's name in the address, for example the id of an entry. */
export interface ViewProps {
  readonly rest: readonly string[]
}
