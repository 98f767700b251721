# SPDX-License-Identifier: Apache-2.0
"""Listed numbers with their brands, and callers of which half are listed; the same on every machine."""
import os
import sqlite3

LISTED = 1_000_000
CALLERS = 100_000
BRANDS = 50_000
FORMAT = "2"

# North American numbers +1 AXX BXX XXXX with A and B from 2 to 9. A step prime to their count visits each once.
SPACE = 800 * 800 * 10_000
STEP = 2_654_435_761
KINDS = "Bank,Clinic,Courier,Dental,Energy,Freight,Garage,Hotel,Insurance,Legal,Optics,Pharmacy,School,Tyres".split(",")
PLACES = "Amber,Birch,Coral,Dune,Elm,Fjord,Grove,Harbour,Inlet,Lake,Mesa,North,Orchard,Prairie,Quarry,River".split(",")


def number(place):
    """The number at a place of the sequence, E.164."""
    value = (place * STEP + 7_919) % SPACE
    value, line = divmod(value, 10_000)
    area, exchange = divmod(value, 800)
    return f"+1{200 + area}{200 + exchange}{line:04}"


def brand(place):
    """(name, logo) shown for the number at a place."""
    brand_number = (place * 48_271) % BRANDS
    name = f"{PLACES[brand_number % 16]} {KINDS[brand_number // 16 % 14]} {brand_number // 224}"
    return name, f"https://logos.example/brands/{brand_number:05}/icon.png"


class Data:
    """Files of the data in a folder, made if they are missing; that takes some seconds."""

    def __init__(self, folder, listed=LISTED):
        self.folder, self.listed = folder, listed
        self.brands = os.path.join(folder, "brands.psv")
        self.callers = os.path.join(folder, "callers.csv")
        self.listed_callers = os.path.join(folder, "callers-listed.csv")
        self.unlisted_callers = os.path.join(folder, "callers-unlisted.csv")
        self.database = os.path.join(folder, "brands.sqlite")

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        stamp = os.path.join(self.folder, "made")
        wanted = f"{FORMAT} {self.listed} {CALLERS} {BRANDS}\n"
        if os.path.exists(stamp):
            with open(stamp, encoding="ascii") as file:
                if file.read() == wanted:
                    return self
        self.write_brands()
        self.write_callers()
        self.write_database()
        with open(stamp, "w", encoding="ascii") as file:
            file.write(wanted)
        return self

    def write_brands(self):
        """Herald's file: number|name|logo."""
        with open(self.brands, "w", encoding="ascii") as file:
            for place in range(self.listed):
                name, logo = brand(place)
                file.write(f"{number(place)}|{name}|{logo}\n")

    def write_callers(self):
        """SIPp's files: listed and unlisted numbers in turn, and both alone."""
        places = range(0, CALLERS, 2)
        listed = [number(place * self.listed // CALLERS) for place in places]
        unlisted = [number(LISTED + place) for place in places]
        mixed = [each for pair in zip(listed, unlisted) for each in pair]
        for path, numbers in (
                (self.callers, mixed), (self.listed_callers, listed), (self.unlisted_callers, unlisted)):
            with open(path, "w", encoding="ascii") as file:
                file.write("SEQUENTIAL\n" + "".join(f"{each}\n" for each in numbers))

    def write_database(self):
        """The table of Kamailio's htable module: key_value holds name|logo."""
        if os.path.exists(self.database):
            os.remove(self.database)
        database = sqlite3.connect(self.database)
        database.executescript("""
            PRAGMA journal_mode = off;
            PRAGMA synchronous = off;
            CREATE TABLE version (table_name TEXT, table_version INTEGER);
            INSERT INTO version VALUES ('brands', 2);
            CREATE TABLE brands (id INTEGER PRIMARY KEY, key_name TEXT NOT NULL, key_type INTEGER DEFAULT 0 NOT NULL,
                value_type INTEGER DEFAULT 0 NOT NULL, key_value TEXT NOT NULL, expires INTEGER DEFAULT 0 NOT NULL);
            """)
        database.executemany(
            "INSERT INTO brands (key_name, key_value) VALUES (?, ?)",
            ((number(place), "|".join(brand(place))) for place in range(self.listed)))
        database.commit()
        database.close()
