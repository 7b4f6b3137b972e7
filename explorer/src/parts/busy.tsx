/** Something is on its way. Said aloud politely, and shown without motion to those who want none. */
export function Busy({ what }: { readonly what: string }) {
  return (
    <p class="busy" role="status">
      <span class="busy-mark" aria-hidden="true" />
      {what}
    </p>
  )
}
