import type { airframeList, flightAnswer, flightList } from '../../../../../shared/hub-api/flight-schemas.ts';
import type { Made } from '../../../../../shared/schemas/made.ts';

/** What the hub answers about flights, as far as the page shows it. Times are ms since 1970; not measured is null. */

export type Flight = FlightPage['flights'][number];

export type FlightPage = Made<typeof flightList>;

export type FlightDetails = Made<typeof flightAnswer>;

export type Due = Airframes['airframes'][number]['maintenance'][number];

export type Airframes = Made<typeof airframeList>;
