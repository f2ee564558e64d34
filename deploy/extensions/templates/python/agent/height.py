def height_of(telemetry):
    """Metres above home, None where it is not known."""
    height = (telemetry.get("position") or {}).get("alt_rel")
    return None if height is None else round(height, 1)
