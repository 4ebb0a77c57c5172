/** A span of time, in milliseconds of the wall clock. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;
/** How much (of one) moments that nobody prescribes are moved at random. */
const JITTER = 0.02;

/**
 * When a certificate is renewed whose CA says nothing about that: after two thirds of its time, or after half of it when that is ten days
 * or less. nginx-acme: renewal_window_from_validity.
 */
export function usualWindow({ start, end }: Span): Span {
  const whole = end - start;
  const at = start + (whole > 10 * DAY ? (whole * 2) / 3 : whole / 2);
  return { start: at - whole * JITTER, end: at + whole * JITTER };
}

export const randomMoment = ({ start, end }: Span): number => Math.round(start + Math.random() * (end - start));

/** Why an attempt failed, as far as the time of the next one depends on that. `passing`: nobody refused. */
export type FailureKind = 'passing' | 'refused' | 'final';

/** The longest pause between attempts; what a CA asks for may be longer. */
const LONGEST: Readonly<Record<FailureKind, number>> = { passing: 3600 * SECOND, refused: DAY, final: DAY };

/**
 * Milliseconds until the next attempt after some failures in a row, at least 1. A CA that cannot be reached is tried soon: the network may
 * have just started. One that refuses is not to be bothered. nginx-acme: set_error.
 */
export function pauseAfter(fails: number, kind: FailureKind): number {
  const pause = kind === 'passing' ? SECOND * 2 ** Math.min(fails - 1, 20) : 60 * SECOND * 10 ** Math.min(fails - 1, 9);
  const bounded = kind === 'final' ? LONGEST.final : Math.min(pause, LONGEST[kind]);
  return Math.round(bounded * (1 + JITTER * (2 * Math.random() - 1)));
}
