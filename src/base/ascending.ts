/**
 * Where a number is among numbers that ascend, or where it belongs: behind all that are less. `count`: of so many from the
 * beginning.
 */
export function placeIn(numbers: Int32Array, number: number, count: number = numbers.length): number {
  if (count === 0 || (numbers[count - 1] as number) < number) return count
  let from = 0
  let to = count
  while (from < to) {
    const middle = (from + to) >> 1
    if ((numbers[middle] as number) < number) from = middle + 1
    else to = middle
  }
  return from
}
