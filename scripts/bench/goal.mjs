// What a row is to be at most, as all programs of this folder show it behind the row's figures.

/**
 * A figure and the most that it is to be; without one where nobody said. `unit` stands behind the latter.
 * @typedef {{ value: number, goal: number | undefined, unit?: string }} Aim
 */

/**
 * ` (at most 150 ms, 45 MB missed)`: the goals of a row, and which of them its figures miss. Empty where there are none, or nothing was
 * measured.
 * @param {...Aim} aims
 */
export function atMost(...aims) {
  const texts = aims.flatMap(({ value, goal, unit = '' }) =>
    goal === undefined || Number.isNaN(value) ? [] : [`${goal}${unit}${value > goal ? ' missed' : ''}`],
  );
  return texts.length === 0 ? '' : ` (at most ${texts.join(', ')})`;
}
