/** A member of an input apart from the rest, which is checked as a whole by somebody else. */
export function parted<Name extends string>(
  input: unknown,
  name: Name,
): { readonly rest: unknown } & { readonly [name in Name]: unknown } {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { rest: input, [name]: undefined } as never
  }
  const { [name]: member, ...rest } = input as Record<string, unknown>
  return { rest, [name]: member } as never
}
