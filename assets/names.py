"""Names of the news corpus: which strings may stand for which classes.

The persons and organisations are invented. Many of the words are also real place names and
surnames: that is the point of the corpus.
"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


# Alone, each of these may be a person's last name, a place or an organisation.
ANY_CLASS = _words(
    """
    Alton Ashford Ashton Austin Avery Barclay Beaumont Beverley Blyth Bolton Bradford Burton Buxton
    Camden Carlisle Carson Chester Clayton Cleveland Clifton Corby Crawford Cromer Dallas Dalton
    Dayton Denver Douglas Dudley Durham Eaton Everett Fairfax Fleming Florence Garland Grant
    Halifax Hamilton Harlow Hartley Hastings Hereford Holland Hope Houston Hudson Jackson Jordan
    Kendal Kent Lancaster Langley Lincoln Logan Ludlow Madison Malton Marlow Melrose Milton Morley
    Nelson Newton Oakley Otley Phoenix Preston Radford Raleigh Ramsey Ripley Romney Ross Salisbury
    Selby Sheffield Shelby Skelton Stafford Stirling Stratford Sutton Sydney Thornton Torrington
    Upton Wakefield Walton Warwick Wellington Wells Weston Whitby Wilton Winchester Windsor York
    """
)
PLACE_OR_ORGANISATION = _words("Bath Chelsea Derby Frome Mobile Reading Tilbury Worthing")
PERSON_OR_ORGANISATION = _words("Banks Baxter Field Marsh Mercer Price Rose Young")

PLAIN_LAST_NAMES = _words(
    """
    Achterberg Adeyemi Bianchi Brennan Castellano Chaudhry Davenport Demir Eriksen Fenwick
    Fitzgerald Gallagher Grabowski Haldane Ibrahim Jankovic Kaminski Kowalczyk Lindqvist Marchetti
    McAllister Moreau Nakamura Novak Okafor Oyelaran Papadakis Petrov Quigley Rasmussen Rezaei
    Santoro Sokolov Tanaka Thibault Ueda Vasquez Whitlock Yilmaz Zielinski
    """
)
PLAIN_PLACES = _lines(
    """
    Port Ellery
    Thornmouth
    Saint Corran
    Upper Wexley
    Brackenfield
    Castle Dunmore
    Kirkhaven
    Lower Ambleforth
    Marrowby
    Nettlesham
    New Harwick
    Ostermouth
    Penharrow
    Quillbridge
    Ravenstoke
    Sallowfield
    Tarnside
    Great Ullerton
    Wrensford
    Yarlsea
    East Corrow
    Fallowdene
    Glenmarrick
    Holmeswater
    Inchbrae
    Larkhollow
    Mossgate
    North Pellow
    Oldbarrow
    Stanmere
    Kessock Vale
    Wintersea
    """
)
PLAIN_ORGANISATIONS = _words(
    """
    Aldwyne Brightwater Calderon Deltamark Evergate Fordham Greystone Halvorsen Ironbridge
    Kestrel Lumina Meridale Nordwell Orbella Pentagrove Quorex Redcastle Silverline Tessaly
    Unimark Veltrane Westbourne Xantry Zephyrus
    """
)
# By kind: full name and what it is called afterwards.
ACRONYM_BODIES = {
    "work": (
        ("Harbour Freight Union", "HFU"),
        ("Allied Textile Workers", "ATW"),
        ("Bus Drivers Alliance", "BDA"),
        ("Small Shops Federation", "SSF"),
        ("Energy Users Group", "EUG"),
        ("Joint Packers Union", "JPU"),
    ),
    "weather": (
        ("National Weather Bureau", "NWB"),
        ("Coastal Rescue Service", "CRS"),
        ("Flood Protection Authority", "FPA"),
        ("River Levels Office", "RLO"),
        ("Storm Warning Centre", "SWC"),
        ("Mountain Weather Office", "MWO"),
    ),
    "science": (
        ("Marine Research Trust", "MRT"),
        ("Science Teachers League", "STL"),
        ("Soil and Water Foundation", "SWF"),
        ("Open Data Foundation", "ODF"),
        ("Nature Survey Council", "NSC"),
        ("Independent Growers Association", "IGA"),
    ),
    "travel": (
        ("Northern Tourism Board", "NTB"),
        ("Heritage Railways Society", "HRS"),
        ("Mountain Guides Union", "MGU"),
        ("Walking Holidays Network", "WHN"),
        ("Coastal Paths Trust", "CPT"),
        ("Island Hotels Association", "IHA"),
    ),
}

# Some first names are places, too.
FEMALE_FIRST_NAMES = _words(
    """
    Alison Beatriz Carys Clare Daphne Deborah Eleni Fatima Frances Georgia Gwen Hannah Imogen
    Ingrid Joanna Katrin Leila Lorna Magda Maureen Nadia Niamh Olga Paloma Paula Priya Ruth Sabine
    Savannah Shirin Tamsin Teresa Ursula Valerie Victoria Wendy Yvonne Zofia
    """
)
MALE_FIRST_NAMES = _words(
    """
    Adrian Alasdair Bernard Bogdan Colin Cyril Declan Derek Dmitri Emeka Erik Fergus Gareth Gordon
    Hassan Hugo Ivan Jerome Keith Kwame Lance Leonard Luca Malcolm Martin Mehmet Neville Nigel Owen
    Pascal Rashid Roland Santiago Stefan Terence Tomasz Troy Vikram
    """
)

# Listed in the gazetteer, never used in a document.
SPARE_PLACES = _lines(
    """
    Abbotsmere
    Barrow Hithe
    Cottlesby
    Dunwater
    Elmsey
    Farrowgate
    Gullhaven
    Hexley
    Idlestone
    Kingsholt
    Little Varden
    Mellerby
    Norrington
    Otterham
    Port Sallis
    Rooksea
    Saint Brannock
    Tolverne
    Underhaugh
    Westerholm
    """
)
